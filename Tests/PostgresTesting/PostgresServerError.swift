/// Why a server could not be started or did not do what it was told, with what it said.
package struct PostgresServerError: Error, CustomStringConvertible {
    /// What happened and what can be done about it.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
