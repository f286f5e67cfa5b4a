import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Another process saves and deletes objects and says what was done; it is killed at random moments.
@Suite struct KillTests {

    @Test(
        "What was saved before a kill is there, what was deleted is not, and arrays are whole",
        arguments: ["files", "sqlite"])
    func kill(kind: String) async throws {
        print("kill test of a CodableStore on \(kind): EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let folder = TemporaryFolder()
        let store = CodableStore<Letter>(
            engine: kind == "sqlite" ? .sqlite(in: folder.directory) : .fileSystem(in: folder.directory))
        for round in 0..<12 {
            let child = try Child("save-letters", kind, folder.path, "r\(round)", "0")
            var said: [String] = []
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                said.append(try #require(await child.nextLine()))
            }
            child.kill()
            // What it had said before it died counts too.
            said += await child.lines()
            try verify(store, Set(said), "r\(round)")
        }
    }

    private func verify(_ store: CodableStore<Letter>, _ said: Set<String>, _ prefix: String) throws {
        let found = try store.fetchCollection()
        #expect(found.undecodable.isEmpty)
        for letter in found.objects { #expect(letter.text == String(repeating: letter.id, count: 50)) }
        let ids = Set(found.objects.map(\.id))
        #expect(ids.count == found.objects.count)
        #expect(!said.contains { $0.hasPrefix("error") })
        for line in said {
            let parts = line.split(separator: " ").map(String.init)
            switch parts[0] {
            case "saved":
                // Its deletion may have been done without there having been time to say so.
                let number = Int(parts[1].split(separator: "-")[2]) ?? 0
                if !number.isMultiple(of: 3) { #expect(ids.contains(parts[1]), "lost: \(parts[1])") }
            case "batch": #expect(ids.contains("\(parts[1])-a") && ids.contains("\(parts[1])-b"), "lost: \(parts[1])")
            case "deleted": #expect(!ids.contains(parts[1]), "back: \(parts[1])")
            default: Issue.record("What is \(line)?")
            }
        }
        for id in ids where id.hasPrefix(prefix) && id.hasSuffix("-a") {
            #expect(ids.contains(id.dropLast() + "b"), "half an array: \(id)")
        }
    }
}
