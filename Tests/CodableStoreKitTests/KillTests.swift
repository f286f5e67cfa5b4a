import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Another process saves and deletes objects, prints what it has done, and is killed at random moments.
@Suite struct KillTests {

    @Test(
        "After a kill, saved objects are stored, deleted ones are not, and arrays are complete",
        arguments: ["files", "sqlite"])
    func kill(kind: String) async throws {
        print("kill test of a CodableStore on \(kind): EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let folder = TemporaryFolder()
        let store = CodableStore<Letter>(
            engine: kind == "sqlite" ? .sqlite(in: folder.directory) : .fileSystem(in: folder.directory))
        for round in 0..<TestSizes.storeKills {
            let child = try Child("save-letters", kind, folder.path, "r\(round)", "0")
            var output: [String] = []
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                output.append(try #require(await child.nextLine()))
            }
            child.kill()
            // Output that it printed before the kill counts too.
            output += await child.lines()
            try verify(store, Set(output), "r\(round)")
        }
    }

    private func verify(_ store: CodableStore<Letter>, _ output: Set<String>, _ prefix: String) throws {
        let found = try store.fetchCollection()
        #expect(found.undecodable.isEmpty)
        for letter in found.objects { #expect(letter.text == String(repeating: letter.id, count: 50)) }
        let ids = Set(found.objects.map(\.id))
        #expect(ids.count == found.objects.count)
        #expect(!output.contains { $0.hasPrefix("error") })
        for line in output {
            let parts = line.split(separator: " ").map(String.init)
            switch parts[0] {
            case "saved":
                // It may have been deleted without time to print that.
                let number = Int(parts[1].split(separator: "-")[2]) ?? 0
                if !number.isMultiple(of: 3) { #expect(ids.contains(parts[1]), "lost: \(parts[1])") }
            case "batch": #expect(ids.contains("\(parts[1])-a") && ids.contains("\(parts[1])-b"), "lost: \(parts[1])")
            case "deleted": #expect(!ids.contains(parts[1]), "reappeared: \(parts[1])")
            default: Issue.record("unexpected line: \(line)")
            }
        }
        for id in ids where id.hasPrefix(prefix) && id.hasSuffix("-a") {
            #expect(ids.contains(id.dropLast() + "b"), "incomplete array: \(id)")
        }
    }
}
