/// What the pages' forms send.
enum Forms {
    /// Which theme to use.
    struct ThemeChoice: Decodable {
        let theme: Theme
    }

    /// Which order the favourites are to have.
    struct OrderChoice: Decodable {
        let order: SortOrder
    }

    /// Who wants to sign in.
    struct Credentials: Decodable {
        let name: String
        let password: String
    }
}
