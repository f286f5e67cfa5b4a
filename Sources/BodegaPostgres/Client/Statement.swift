#if Postgres
/// An SQL statement.
struct Statement: Sendable {

    /// The name under which each connection prepares it once; `nil` for a statement that the server plans for each
    /// execution, because the best plan depends on the parameters.
    let name: String?

    let sql: String

    /// Creates a statement that is prepared under a name.
    init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
    }

    /// Creates a statement that is planned for each execution.
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

    init<each Value: BinaryValue>(_ statement: Statement, _ values: repeat each Value) {
        self.init(statement, Parameters(repeat each values))
    }

    static let begin = Command(Statement("BEGIN ISOLATION LEVEL READ COMMITTED"))
    /// Begins a transaction in which all statements read the same snapshot.
    static let beginSnapshot = Command(Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
    static let commit = Command(Statement("COMMIT"))
    static let rollback = Command(Statement("ROLLBACK"))
}
#endif
