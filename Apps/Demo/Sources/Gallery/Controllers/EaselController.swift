import Boutique

/// The picture on the easel. The controller fetches it and stores it, so that it is available after a restart and
/// without the API.
@MainActor
final class EaselController {
    /// The picture on the easel; `nil` before the first one.
    @AsyncStoredValue<Exhibit?> var exhibit: Exhibit?

    /// Fires when fetching begins and when it ends.
    let fetching = Signal()

    private let api: PictureClient
    private let availability: Availability
    private let images: ImageStore
    private var fetch: (task: Task<Exhibit?, any Error>, session: Session?)?
    /// The image that was on the easel before. Pages that were rendered earlier still request it, so it is removed one
    /// picture later.
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

    /// Whether another picture is being fetched.
    var isFetching: Bool { fetch != nil }

    /// Fetches another picture and puts it on the easel. Concurrent calls share one request.
    ///
    /// - Parameter session: The session; `nil` for pictures that do not require one.
    /// - Throws: A ``PictureAPIError``, or a `StorageError`. The picture on the easel stays then.
    func showAnother(_ session: Session?) async throws {
        while let fetch {
            do {
                _ = try await fetch.task.value
                return
            } catch PictureAPIError.signedOut where fetch.session != session {
                // The API may accept this session.
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

    /// Replaces the picture on the easel.
    ///
    /// - Returns: The former picture. Its bytes are still stored: they are removed last, so that the picture on the
    ///   easel has its bytes whenever the program is killed.
    private func replaceExhibit(_ session: Session?) async throws -> Exhibit? {
        // A picture that cannot be read must not be replaced.
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
