/// An error in starting or controlling a server, with the server's output.
package struct PostgresServerError: Error, CustomStringConvertible {
    /// A description of the error and, if possible, what to do.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
