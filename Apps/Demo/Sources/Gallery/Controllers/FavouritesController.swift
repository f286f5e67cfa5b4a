import Boutique
import Foundation

/// Adds and removes favourites.
///
/// A favourite is in the store and its bytes are in the ``ImageStore``, so there are two writes. The bytes are written
/// first and removed last, so each favourite has its bytes whenever the program is killed. Orphaned bytes can remain;
/// they are removed at the next start.
@MainActor
final class FavouritesController {
    /// The favourites, in the order in which they were added.
    @Stored var favourites: [Favourite]

    private let albums: Store<Album>
    private let images: ImageStore
    private let removals: RemovalsController
    private let now: @Sendable () -> Date

    /// The maximum number of favourites; the page shows all of them.
    static let limit = 500

    /// Creates a controller on a store.
    init(
        _ store: Store<Favourite>, albums: Store<Album>, images: ImageStore, removals: RemovalsController,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        _favourites = Stored(in: store)
        self.albums = albums
        self.images = images
        self.removals = removals
        self.now = now
    }

    /// The outcome of adding a favourite.
    enum Addition: Sendable {
        case added
        /// The picture is a favourite already.
        case wasThere
        /// The maximum number of favourites is reached.
        case isFull
        /// The bytes of the picture have been removed.
        case isGone
    }

    /// Adds an exhibit to the favourites.
    ///
    /// - Throws: A `StorageError`. The exhibit is not added then.
    func add(_ exhibit: Exhibit) async throws -> Addition {
        guard let image = try await images.copy(exhibit.image) else { return .isGone }
        let favourite = Favourite(picture: exhibit.picture, image: image, addedAt: now())
        do {
            // One transaction, so that two simultaneous clicks add one favourite.
            let addition = try await $favourites.transaction { favourites -> Addition in
                if favourites.contains(id: favourite.id) { return .wasThere }
                if favourites.count >= Self.limit { return .isFull }
                favourites.insert(favourite)
                return .added
            }
            if addition != .added { await images.discard([image]) }
            return addition
        } catch {
            await images.discard([image])
            throw error
        }
    }

    /// Removes a favourite, also from its albums.
    ///
    /// - Returns: The removed favourite; `nil` if there is no such favourite.
    /// - Throws: A `StorageError`. Nothing was removed then.
    func remove(id: String) async throws -> Favourite? {
        try await remove { favourites in favourites[id].map { [$0] } ?? [] }.first
    }

    /// Removes all favourites, also from their albums.
    ///
    /// - Returns: The number of removed favourites.
    /// - Throws: A `StorageError`. Nothing was removed then.
    func removeAll() async throws -> Int {
        try await remove { favourites in favourites.items }.count
    }

    private func remove(
        _ choose: @escaping @MainActor (StoreTransaction<Favourite>) -> [Favourite]
    ) async throws -> [Favourite] {
        let removal = try await $favourites.transaction(with: albums) { favourites, albums in
            let removed = choose(favourites)
            let ids = Set(removed.map(\.id))
            // The albums are read, so that the removal can be undone.
            let former = albums.filter { !ids.isDisjoint(with: $0.favouriteIDs) }
            // The engine does it, too, unless the gallery is synchronized; see `UnkeptReferences`.
            for album in former { try albums.update(id: album.id) { $0.favouriteIDs.removeAll(where: ids.contains) } }
            favourites.remove(removed)
            return Removal(favourites: removed, albums: former)
        }
        if !removal.favourites.isEmpty { await removals.offerUndo(of: removal) }
        return removal.favourites
    }
}
