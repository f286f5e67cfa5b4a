import Boutique
import Foundation
import GRDB
import TestSupport
import Testing

struct Player: Codable, Sendable, Identifiable, FetchableRecord, TableRecord {
    static let databaseTableName = "player"

    var id: Int64
    var name: String
    var score: Int
    var joined: Date
}

@MainActor
func importPlayers(from database: any DatabaseReader, into store: Store<Player>) async throws {
    if !store.items.isEmpty { return }  // imported before
    let players = try await database.read { try Player.fetchAll($0) }
    try await store.insert(players)  // one batch: all players, or none
}

/// The guide for apps that have used GRDB.
@Suite struct GRDBGuideTests {
    @Test @MainActor func `Records of GRDB are imported once, and survive`() async throws {
        let folder = TemporaryFolder()
        let database = try DatabaseQueue(path: folder.url.appendingPathComponent("app.sqlite").path)
        try await database.write { db in
            try db.create(table: "player") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("name", .text).notNull()
                table.column("score", .integer).notNull()
                table.column("joined", .datetime).notNull()
            }
            for number in 1...3 {
                try db.execute(
                    sql: "INSERT INTO player (name, score, joined) VALUES (?, ?, '2026-02-28 12:34:5\(number).250')",
                    arguments: ["Ada\u{301} \(number)", number * 10])
            }
        }
        let file = folder.file("players")
        for _ in 0..<2 {
            let store = try await Store<Player>(storage: SQLiteStorageEngine(openingFile: file))
            try await importPlayers(from: database, into: store)
            let players = store.items.sorted { $0.id < $1.id }
            #expect(players.map(\.id) == [1, 2, 3])
            #expect(players.map(\.name) == ["Ada\u{301} 1", "Ada\u{301} 2", "Ada\u{301} 3"])
            #expect(players.map(\.score) == [10, 20, 30])
            // 12:34:51.25 on 28 February 2026 in UTC, by `date -u`.
            #expect(
                players.map(\.joined.timeIntervalSince1970) == [1_772_282_091.25, 1_772_282_092.25, 1_772_282_093.25])
            // Only the first import reads it.
            try await database.write { try $0.execute(sql: "DELETE FROM player WHERE score > 0 AND id > 1") }
        }
    }
}
