import Boutique

/// The picture that is on show: fetches it and keeps it, so that it is there after a restart and without the API.
@MainActor
final class EaselController {
    /// The picture on show; `nil` if there was none yet.
    @AsyncStoredValue<Exhibit?> var exhibit: Exhibit?

    /// Fires when fetching begins and when it ends.
    let fetching = Signal()

    private let api: PictureClient
    private let availability: Availability
    private let images: ImageStore
    private var fetch: (task: Task<Exhibit?, any Error>, session: Session?)?
    /// The image that was on show before. Pages that were made meanwhile still ask for it, so it goes one picture later.
    private var former: ImageKey?

    /// Creates a controller.
    init(
        storage: any StorageEngine,
        images: ImageStore,
        api: PictureClient,
        availability: Availability
    ) {
        _exhibit = AsyncStoredValue(key: "exhibit", default: nil, storage: storage)
        self.images = images
        self.api = api
        self.availability = availability
    }

    /// Whether another picture is on its way.
    var isFetching: Bool { fetch != nil }

    /// Fetches another picture and puts it on show. Whoever asks while one is on its way gets that one.
    ///
    /// - Parameter session: Proves that somebody is signed in; `nil` for pictures that everybody gets.
    /// - Throws: A ``PictureAPIError``, or a `StorageError`. The picture before stays then.
    func showAnother(_ session: Session?) async throws {
        while let fetch {
            do {
                _ = try await fetch.task.value
                return
            } catch PictureAPIError.signedOut where fetch.session != session {
                // This one may be known.
            }
        }
        let task = Task {
            defer {
                fetch = nil
                fetching.send()
            }
            return try await replaceExhibit(session)
        }
        fetch = (task, session)
        fetching.send()
        guard let replaced = try await task.value else { return }
        let discarded = former
        former = replaced.image
        if let discarded { await images.discard([discarded]) }
    }

    /// Puts another picture on show.
    ///
    /// - Returns: What was on show before. Its bytes are still there: they go last, so that whenever the program is
    ///   killed, what is on show has its bytes.
    private func replaceExhibit(_ session: Session?) async throws -> Exhibit? {
        // What cannot be read must not be replaced.
        try await $exhibit.valueHasLoaded()
        let former = exhibit
        let delivery = try await availability.observe { () throws(PictureAPIError) in
            try await api.randomPicture(token: session?.token)
        }
        let image = try await images.add(delivery.image)
        do {
            try await $exhibit.set(Exhibit(picture: delivery.picture, image: image))
        } catch {
            await images.discard([image])
            throw error
        }
        return former
    }
}
