/// Which colours the pages have.
enum Theme: String, Codable, CaseIterable, Sendable {
    /// Those that the system has.
    case auto
    case light
    case dark
}

/// In which order the favourites are shown.
enum SortOrder: String, Codable, CaseIterable, Sendable {
    case newest
    case oldest
    case title

    /// Puts favourites into this order.
    func sort(_ favourites: [Favourite]) -> [Favourite] {
        switch self {
        case .newest: favourites.sorted { ($0.addedAt, $0.id) > ($1.addedAt, $1.id) }
        case .oldest: favourites.sorted { ($0.addedAt, $0.id) < ($1.addedAt, $1.id) }
        case .title: favourites.sorted { ($0.picture.title, $0.id) < ($1.picture.title, $1.id) }
        }
    }
}
