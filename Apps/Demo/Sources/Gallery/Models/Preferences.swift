/// The colours of the pages.
enum Theme: String, Codable, CaseIterable, Sendable {
    /// The system's setting.
    case auto
    case light
    case dark
}

/// The order in which the favourites are shown.
enum SortOrder: String, Codable, CaseIterable, Sendable {
    case newest
    case oldest
    case title

    /// Sorts favourites.
    func sort(_ favourites: [Favourite]) -> [Favourite] {
        switch self {
        case .newest: favourites.sorted { ($0.addedAt, $0.id) > ($1.addedAt, $1.id) }
        case .oldest: favourites.sorted { ($0.addedAt, $0.id) < ($1.addedAt, $1.id) }
        case .title: favourites.sorted { ($0.picture.title, $0.id) < ($1.picture.title, $1.id) }
        }
    }
}
