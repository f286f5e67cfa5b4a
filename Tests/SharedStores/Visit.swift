import Boutique

/// An item that several stores change. Each write of one makes another version.
package struct Visit: StorableItem, Identifiable, Equatable {
    package var id: String
    /// Who has written it, and when in the course of that.
    package var version: String

    package init(id: String, version: String) {
        (self.id, self.version) = (id, version)
    }
}
