// Declarations that the page mentions but does not show.

nonisolated struct Session: Sendable {
    func token() async throws -> String { "" }
}

nonisolated let session = Session()

struct Note: Codable, Sendable, Identifiable {
    var id: String
}
