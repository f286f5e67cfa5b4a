// Declarations that the page mentions but does not show.

struct Session: Sendable {
    func token() async throws -> String { "" }
}

let session = Session()

struct Note: Codable, Sendable, Identifiable {
    var id: String
}
