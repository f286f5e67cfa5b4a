import Boutique

/// An item that several stores change. Each write has a new version.
package struct Visit: StorableItem, Identifiable, Equatable {
    package var id: String
    /// The visitor that wrote the item, and a number.
    package var version: String

    package init(id: String, version: String) {
        (self.id, self.version) = (id, version)
    }
}
