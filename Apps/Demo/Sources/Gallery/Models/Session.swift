/// A session with the API. It contains a secret, which is neither shown nor logged.
struct Session: Codable, Hashable, Sendable {
    let name: String
    let token: String
}

extension Session: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the user, without the token.
    var description: String { "Session of \(name)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
