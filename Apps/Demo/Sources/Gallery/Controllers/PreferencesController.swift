import Boutique
import Foundation

/// The user's preferences for the pages.
@MainActor
final class PreferencesController {
    /// The colours of the pages.
    @StoredValue<Theme> var theme: Theme
    /// The order of the favourites.
    @StoredValue<SortOrder> var sortOrder: SortOrder

    /// Creates a controller.
    ///
    /// - Parameter suite: The name of the suite of user defaults that stores the values.
    init(suite: String) {
        let defaults = UserDefaults(suiteName: suite) ?? .standard
        _theme = StoredValue(key: "theme", default: .auto, storage: defaults)
        _sortOrder = StoredValue(key: "sortOrder", default: .newest, storage: defaults)
    }
}
