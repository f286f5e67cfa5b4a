import BodegaSync

/// The contents of the pages' forms.
enum Forms {
    /// The choice of a theme.
    struct ThemeChoice: Decodable {
        let theme: Theme
    }

    /// The choice of an order of the favourites.
    struct OrderChoice: Decodable {
        let order: SortOrder
    }

    /// The name of a new album, and its first favourite.
    struct NewAlbum: Decodable {
        let name: String
        let favourite: String?
    }

    /// The new name of an album.
    struct NewName: Decodable {
        let name: String
    }

    /// The version of an album that is taken.
    struct VersionChoice: Decodable {
        let version: MergeSide
    }

    /// What is removed with an album.
    struct AlbumRemoval: Decodable {
        let favourites: Favourites

        enum Favourites: String, Decodable {
            case keep, remove
        }
    }

    /// The title of a picture that is added to the archive.
    struct NewPicture: Decodable {
        let title: String
    }

    /// The name and password of a user who signs in.
    struct Credentials: Decodable {
        let name: String
        let password: String
    }
}
