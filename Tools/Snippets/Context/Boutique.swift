// What the page speaks of and does not show.

struct Note: Codable, Sendable, Identifiable { var id, text: String }
