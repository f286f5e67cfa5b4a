#if Postgres
/// A statement of SQL.
struct Statement: Sendable {

    /// The name under which connections prepare it, once each; `nil` for one that is planned anew each time, because
    /// the best plan depends on the parameters.
    let name: String?

    let sql: String

    /// A statement that is prepared under a name.
    init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
    }

    /// A statement that is planned anew each time.
    init(_ sql: String) {
        name = nil
        self.sql = sql
    }
}

/// A statement with its parameters.
struct Command: Sendable {
    var statement: Statement
    var parameters: Parameters

    init(_ statement: Statement, _ parameters: Parameters = Parameters()) {
        self.statement = statement
        self.parameters = parameters
    }
}
#endif
