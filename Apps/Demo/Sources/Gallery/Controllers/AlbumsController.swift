import Boutique
import Foundation

/// Creates, fills and removes albums.
///
/// Albums and favourites are two stores on collections of one database. What reads or changes both is one transaction
/// over both: it is stored as a whole or not at all, and every open page shows it in one step.
@MainActor
final class AlbumsController {
    /// The albums, in the order in which they were created.
    @Stored var albums: [Album]

    private let favourites: Store<Favourite>
    private let removals: RemovalsController

    /// The maximum number of albums; the page shows all of them.
    static let limit = 100

    /// Creates a controller on a store.
    init(_ store: Store<Album>, favourites: Store<Favourite>, removals: RemovalsController) {
        _albums = Stored(in: store)
        self.favourites = favourites
        self.removals = removals
    }

    /// Creates an album.
    ///
    /// - Parameters:
    ///   - name: Its name. Several albums can have the same one.
    ///   - favouriteID: The first favourite. If it has been removed, the album is empty.
    /// - Returns: The album; `nil` if the maximum number of albums is reached.
    /// - Throws: A `StorageError`. No album was created then.
    func create(name: String, with favouriteID: Favourite.ID? = nil) async throws -> Album? {
        let id = UUID().uuidString.lowercased()
        return try await $albums.transaction(with: favourites) { albums, favourites in
            if albums.count >= Self.limit { return nil }
            let first = favouriteID.flatMap { favourites[$0] }
            let album = Album(id: id, name: name, favouriteIDs: first.map { [$0.id] } ?? [])
            albums.insert(album)
            return album
        }
    }

    /// Renames an album.
    ///
    /// - Returns: The album as it was before; `nil` if it has been removed.
    /// - Throws: A `StorageError`. Nothing has changed then.
    func rename(_ id: Album.ID, to name: String) async throws -> Album? {
        // Both stores, because otherwise it could overwrite what another program or device changes in the album.
        try await $albums.transaction(with: favourites) { albums, _ in
            guard let former = albums[id] else { return nil }
            try albums.update(id: id) { $0.name = name }
            return former
        }
    }

    /// Adds a favourite to an album, at the end, unless it is already in it.
    ///
    /// - Returns: The favourite and the album; `nil` if either has been removed.
    /// - Throws: A `StorageError`. Nothing has changed then.
    func add(_ favouriteID: Favourite.ID, to id: Album.ID) async throws -> (Favourite, Album)? {
        try await change(id, favouriteID) { if !$0.contains(favouriteID) { $0.append(favouriteID) } }
    }

    /// Removes a favourite from an album. It is still a favourite.
    ///
    /// - Returns: The favourite and the album; `nil` if either has been removed.
    /// - Throws: A `StorageError`. Nothing has changed then.
    func remove(_ favouriteID: Favourite.ID, from id: Album.ID) async throws -> (Favourite, Album)? {
        try await change(id, favouriteID) { $0.removeAll { $0 == favouriteID } }
    }

    private func change(
        _ id: Album.ID, _ favouriteID: Favourite.ID, _ change: @escaping @MainActor (inout [Favourite.ID]) -> Void
    ) async throws -> (Favourite, Album)? {
        // Both stores, because otherwise another program could remove the favourite before this adds it.
        try await $albums.transaction(with: favourites) { albums, favourites in
            guard let favourite = favourites[favouriteID] else { return nil }
            return try albums.update(id: id) { change(&$0.favouriteIDs) }.map { (favourite, $0) }
        }
    }

    /// Removes an album.
    ///
    /// - Parameters:
    ///   - id: The album's identifier.
    ///   - includesFavourites: Whether its favourites are removed as well. Those that are in another album stay.
    /// - Returns: What was removed; `nil` if there is no such album.
    /// - Throws: A `StorageError`. Nothing was removed then.
    func remove(id: Album.ID, includingFavourites includesFavourites: Bool) async throws -> Removal? {
        let removal = try await $albums.transaction(with: favourites) { albums, favourites -> Removal? in
            guard let album = albums[id] else { return nil }
            let ids = includesFavourites ? album.favouriteIDs(inNoneOf: albums.items) : []
            let removed = ids.compactMap { favourites[$0] }
            albums.remove(album)
            favourites.remove(removed)
            return Removal(album: album, favourites: removed)
        }
        if let removal { await removals.offerUndo(of: removal) }
        return removal
    }
}
