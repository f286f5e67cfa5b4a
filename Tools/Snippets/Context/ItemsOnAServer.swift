// Declarations that the page mentions but does not show.

nonisolated let token = ""

struct Note: Codable, Sendable, Identifiable {
    var id: String
}
