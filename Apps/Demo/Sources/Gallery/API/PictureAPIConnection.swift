/// The gallery's way to reach the API and to switch it off and on.
public struct PictureAPIConnection: Sendable {
    let address: @Sendable () async -> String
    let isOn: @Sendable () async -> Bool
    let setOn: @Sendable (Bool) async throws -> Void
    let timeLimit: Duration

    /// Creates a connection.
    ///
    /// - Parameters:
    ///   - address: Returns the address of the API, such as `http://127.0.0.1:8081`.
    ///   - isOn: Returns whether the API is switched on.
    ///   - setOn: Switches the API on or off.
    ///   - timeLimit: The time limit for a request, including the body of the response.
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
