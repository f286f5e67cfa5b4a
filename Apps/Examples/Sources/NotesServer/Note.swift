import Bodega
import Hummingbird

struct Note: Codable, Sendable, ResponseEncodable {
    let id: String
    var text: String
    var likes = 0
}

/// The body of a request that writes a note.
struct Draft: Decodable {
    var text: String
}

/// The query of a request for a list of notes.
struct ListQuery: Decodable {
    var contains: String?
    var limit: Int?
    var after: String?
}

/// A part of the list.
struct NotesPage: Encodable, ResponseEncodable {
    var notes: [Note]
    /// The value of `after` for the next page; `nil` on the last one.
    var next: String?
}

/// The data of an event.
struct NoteChange: Encodable {
    var id: String
    /// The stored note; `nil` if it was removed.
    var note: Note?
}
