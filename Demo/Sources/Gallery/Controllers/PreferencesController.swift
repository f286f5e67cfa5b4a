import Boutique
import Foundation

/// How somebody likes the pages.
@MainActor
final class PreferencesController {
    /// The colours of the pages.
    @StoredValue<Theme> var theme: Theme
    /// The order of the favourites.
    @StoredValue<SortOrder> var sortOrder: SortOrder

    /// Creates a controller.
    ///
    /// - Parameter suite: The name of the user defaults that the values are in.
    init(suite: String) {
        let defaults = UserDefaults(suiteName: suite) ?? .standard
        _theme = StoredValue(key: "theme", default: .auto, storage: defaults)
        _sortOrder = StoredValue(key: "sortOrder", default: .newest, storage: defaults)
    }
}
