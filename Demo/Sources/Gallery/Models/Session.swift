/// Proves to the API that somebody is signed in. A secret: it is neither shown nor logged.
struct Session: Codable, Hashable, Sendable {
    let name: String
    let token: String
}

extension Session: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Who is signed in, without the token.
    var description: String { "Session of \(name)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
