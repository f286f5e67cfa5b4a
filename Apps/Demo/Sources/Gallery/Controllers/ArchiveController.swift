import Bodega
import Boutique
import Foundation
import Logging

/// The archive: 100,000 pictures, of which each open page shows a live window.
///
/// A store would hold all of them in memory. Here a ``LiveQuery`` holds those that a page shows, and some in reserve,
/// for as long as the page is open. Searching opens another window.
@MainActor
final class ArchiveController {
    /// The pictures.
    nonisolated let pictures: ObjectStorage<ArchivePicture>

    /// The state of the archive, which the program fills when its page is first opened.
    enum State: Sendable {
        case filling
        case filled
        /// The pictures could not be written. The next visitor causes another attempt.
        case failed(message: String)
    }

    /// The state.
    var state: State {
        if let failure { return .failed(message: failure) }
        return written < size ? .filling : .filled
    }

    /// Fires when ``state`` or ``written`` has changed.
    let progress = Signal()

    /// The number of pictures that have been created. It is stored, so that pictures which the user has removed are not
    /// created again.
    @AsyncStoredValue<Int> var written: Int

    /// The number of pictures to create.
    let size: Int

    /// The windows of the open pages.
    private(set) var windows: [String: LiveQuery<ArchivePicture>] = [:]

    private let engine: any StorageBackend
    private let logger: Logger
    private var filling: Task<Void, Never>?
    private var failure: String?

    private nonisolated static let coder = JSONObjectCoder.json
    /// The number of pictures that are written with one transaction.
    private static let batchSize = 5_000

    /// Creates a controller. ``open()`` fills the archive.
    init(storage: any StorageBackend, progress: any StorageEngine, size: Int, logger: Logger) {
        engine = storage
        pictures = ObjectStorage(storage: storage, coder: Self.coder)
        _written = AsyncStoredValue(key: "written", default: 0, storage: progress)
        self.size = size
        self.logger = logger
    }

    // MARK: Filling

    /// Begins to fill the archive in the background, unless it is filled.
    func open() async {
        do {
            try await $written.valueHasLoaded()
        } catch {
            return show(error)
        }
        if filling != nil { return }
        failure = nil
        if written >= size { return }
        filling = Task {
            do {
                try await fill()
            } catch {
                show(error)
            }
            filling = nil
        }
        progress.send()
    }

    private func fill() async throws {
        while written < size {
            let end = min(written + Self.batchSize, size)
            try await Self.write(written..<end, to: pictures)
            // After the pictures, because that is faster, and before the archive counts as filled.
            if end == size { try await pictures.createIndexes() }
            // A program that is killed before this writes the same pictures again.
            try await $written.set(end)
            progress.send()
        }
    }

    private func show(_ error: any Error) {
        logger.error("The archive could not be filled.", metadata: ["error": "\(error)"])
        failure = (error as? StorageError)?.message ?? "\(error)"
        progress.send()
    }

    /// Creates pictures, off the main actor.
    private nonisolated static func write(_ numbers: Range<Int>, to storage: ObjectStorage<ArchivePicture>) async throws
    {
        try await storage.store(
            numbers.map { number in
                let picture = ArchivePicture(number: number)
                return (picture.key, picture)
            })
    }

    // MARK: Windows

    /// Opens a window, runs a body with it, and releases it.
    func withWindow(
        _ search: ArchiveSearch, _ body: (_ id: String, LiveQuery<ArchivePicture>) async -> Void
    ) async {
        let id = UUID().uuidString.lowercased()
        let window = LiveQuery(search.query, in: pictures, limit: search.shown)
        windows[id] = window
        defer { windows[id] = nil }
        await body(id, window)
    }

    /// Shows more pictures in a window.
    ///
    /// - Returns: Whether there is such a window.
    /// - Throws: A `StorageError` if they could not be read.
    func showMore(in id: String) async throws -> Bool {
        guard let window = windows[id] else { return false }
        let count = min(ArchiveSearch.pageSize, ArchiveSearch.limit - window.items.count)
        if count > 0 { try await window.loadMore(count) }
        return true
    }

    // MARK: Changes

    /// A stream that signals possible changes, also those of other programs.
    var changes: AsyncStream<Void> { engine.changeSignals() }

    /// Adds a picture.
    ///
    /// - Throws: A `StorageError`. It is not added then.
    func add(title: String) async throws {
        let id = UUID().uuidString.lowercased()
        var choices = Choices(state: UInt64.random(in: .min ... .max))
        let picture = ArchivePicture(
            id: id, title: title, colour: choices.pick(ArchivePicture.Colour.allCases), tags: ["new"],
            paintedAt: Date(),
            width: 800, height: 600, likes: 0, seed: UInt32(truncatingIfNeeded: choices.next()))
        try await pictures.store(picture, forKey: picture.key)
    }

    /// Adds one to the likes of a picture. Likes of several users at the same time all count.
    ///
    /// - Returns: The picture, `nil` if there is none.
    /// - Throws: A `StorageError`. Nothing has changed then.
    func like(_ id: String) async throws -> ArchivePicture? {
        let key = ArchivePicture.key(id)
        while let old = try await engine.fetch(key: key) {
            var picture = try Self.coder.decode(ArchivePicture.self, from: old)
            picture.likes += 1
            let write = StorageOperation.write(key: key, data: try Self.coder.encode(picture))
            if try await engine.apply([write], if: [StorageCondition(key: key, data: old)]) { return picture }
        }
        return nil
    }

    /// Removes a picture.
    ///
    /// - Throws: A `StorageError`. It was not removed then.
    func remove(_ id: String) async throws {
        try await pictures.removeObject(forKey: ArchivePicture.key(id))
    }
}
