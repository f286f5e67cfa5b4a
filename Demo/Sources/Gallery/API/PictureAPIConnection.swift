/// How the gallery reaches the API, and how its page switches it off and on.
public struct PictureAPIConnection: Sendable {
    let address: @Sendable () async -> String
    let isOn: @Sendable () async -> Bool
    let setOn: @Sendable (Bool) async throws -> Void
    let timeLimit: Duration

    /// Describes an API.
    ///
    /// - Parameters:
    ///   - address: Tells where it is, such as `http://127.0.0.1:8081`.
    ///   - isOn: Tells whether it is switched on.
    ///   - setOn: Switches it.
    ///   - timeLimit: How long a request may take, until its last byte.
    public init(
        address: @escaping @Sendable () async -> String,
        isOn: @escaping @Sendable () async -> Bool,
        setOn: @escaping @Sendable (Bool) async throws -> Void,
        timeLimit: Duration = .seconds(5)
    ) {
        self.address = address
        self.isOn = isOn
        self.setOn = setOn
        self.timeLimit = timeLimit
    }
}
