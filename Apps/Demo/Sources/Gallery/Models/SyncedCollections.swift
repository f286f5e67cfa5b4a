/// The collections that devices have in common.
public enum SyncedCollections {
    /// The name of the collection with the images of the favourites.
    static let images = "favourite-images"

    /// The names of all of them.
    public static let names = [Favourite.collection, Album.collection, images]
}
