import Bodega

/// A named group of favourites. A favourite can be in any number of albums.
struct Album: Codable, Hashable, Sendable, Identifiable {
    /// The identifier; see ``Picture/isValidID(_:)``.
    let id: String
    var name: String
    /// The favourites in the album, in the order in which they were added.
    var favouriteIDs: [Favourite.ID] = []

    /// The name of the albums' collection in the database.
    static let collection = "albums"
}

extension Album: Queryable {
    static let indexes: [Index<Album>] = []
    /// A favourite that is removed, by any program, leaves all albums in the same transaction.
    static let references = [
        Reference(
            "favouriteIDs", \Album.favouriteIDs, to: Favourite.self, in: Favourite.collection,
            identifiedBy: "picture.id", onRemoval: .clear)
    ]
}

extension Album {

    /// The favourites that are in none of the other albums.
    func favouriteIDs(inNoneOf others: [Album]) -> [Favourite.ID] {
        let shared = Set(others.filter { $0.id != id }.flatMap(\.favouriteIDs))
        return favouriteIDs.filter { !shared.contains($0) }
    }

    /// Adds favourites at the places that they had in a former version of the album.
    mutating func restore(_ ids: Set<Favourite.ID>, from former: Album) {
        let kept = ids.union(favouriteIDs)
        let added = favouriteIDs.filter { !former.favouriteIDs.contains($0) }
        favouriteIDs = former.favouriteIDs.filter(kept.contains) + added
    }
}
