import Boutique

/// What the user has removed with one action.
struct Removal: Sendable {
    /// The removed album.
    var album: Album?
    /// The removed favourites.
    let favourites: [Favourite]
    /// The albums that the favourites were in, as they were before.
    var albums: [Album] = []
}

/// Keeps the last removal, so that it can be undone.
@MainActor
final class RemovalsController {
    /// The removal that can be undone. The bytes of its favourites are kept until something else is removed.
    private(set) var last: Removal?

    private let favourites: Store<Favourite>
    private let albums: Store<Album>
    private let images: ImageStore

    /// Creates a controller on the stores of the favourites and of the albums, which are in one database.
    init(favourites: Store<Favourite>, albums: Store<Album>, images: ImageStore) {
        (self.favourites, self.albums, self.images) = (favourites, albums, images)
    }

    /// Keeps a removal, in place of the former one.
    func offerUndo(of removal: Removal) async {
        let former = last
        last = removal
        await images.setAside(removal.favourites.map(\.image))
        await images.discard(former?.favourites.map(\.image) ?? [])
    }

    /// Restores what was removed last, all or nothing.
    ///
    /// - Returns: What was restored. A favourite that has been added again in the meantime is not changed.
    /// - Throws: A `StorageError`. Nothing was restored then.
    func undo() async throws -> Removal {
        guard let removal = last else { return Removal(favourites: []) }
        last = nil
        do {
            try await images.putBack(removal.favourites.map(\.image))
            let restored = try await favourites.transaction(with: albums) { favourites, albums in
                let missing = removal.favourites.filter { !favourites.contains(id: $0.id) }
                favourites.insert(missing)
                for former in removal.albums {
                    try albums.update(id: former.id) { $0.restore(Set(missing.map(\.id)), from: former) }
                }
                guard var album = removal.album else { return Removal(favourites: missing) }
                album.favouriteIDs.removeAll { !favourites.contains(id: $0) }
                albums.insert(album)
                return Removal(album: album, favourites: missing)
            }
            let kept = Set(restored.favourites.map(\.image))
            await images.forget(kept.map { $0 })
            await images.discard(removal.favourites.map(\.image).filter { !kept.contains($0) })
            return restored
        } catch {
            // Another removal can have taken its place in the meantime.
            if last == nil { last = removal } else { await images.discard(removal.favourites.map(\.image)) }
            throw error
        }
    }
}
