import Boutique

/// The first shape of a note, without versions.
struct NoteV1: Codable, Equatable {
    var id: String
    var text: String
}

/// The second shape of a note.
struct NoteV2: Codable, Equatable {
    var id: String
    var title: String
    var tags: [String]
}

/// The current shape of a note. Its records can also be decoded in the previous shape, but have another meaning.
struct NoteV3: Codable, Equatable, Identifiable {
    var id: String
    var title: String
    var tags: [String]
    var priority: Int?
}

extension ItemMigration where Item == NoteV2 {
    static var ofTwo: ItemMigration {
        ItemMigration<NoteV1>(startingWith: NoteV1.self)
            .then(NoteV2.self) { NoteV2(id: $0.id, title: $0.text, tags: []) }
    }
}

extension ItemMigration where Item == NoteV3 {
    static var ofThree: ItemMigration {
        ItemMigration<NoteV2>.ofTwo
            .then { NoteV3(id: $0.id, title: $0.title, tags: $0.tags.sorted(), priority: $0.tags.count) }
    }
}
