import BodegaTesting
import CodableStoreKit
import Dispatch
import Foundation
import TestSupport
import Testing

/// Random operations from several threads, checked against a dictionary.
@Suite struct ModelTests {

    private let folder = TemporaryFolder()

    /// An object with a number, and an identifier that is easily confused with another.
    private struct Note: CodableStoreable, Equatable, Sendable {
        let id: String
        let number: Int
        var text: String

        static var codableStoreIdentifier: KeyPath<Note, String> { \.id }
        static var codableStoreCollectionName: String { "Notes" }

        init(_ number: Int, text: String) {
            (id, self.number, self.text) = (Self.id(number), number, text)
        }

        /// Returns the identifier for a number. Those of one thread consist of adjacent texts, which are similar.
        static func id(_ number: Int) -> String {
            let texts = HostileTexts.all
            return texts[(Int(Seed.current % UInt64(texts.count)) + number % 1000) % texts.count] + "\(number / 1000)"
        }
    }

    private enum Mismatch: Error, CustomStringConvertible {
        case differs(String)
        var description: String { if case .differs(let text) = self { text } else { "" } }
    }

    @Test("Concurrent random changes have the same effect as on a dictionary", arguments: EngineKind.allCases)
    func model(kind: EngineKind) throws {
        print("model test of a CodableStore in \(kind): EMPORIUM_SEED=\(Seed.current)")
        let engine: CodableStore<Note>.Engine = try kind.engine(in: folder)
        let threads = 4
        let failures = Locked<[String]>([])
        let models = Locked<[Int: [Int: Note]]>([:])
        let observed = Locked<[Int: Note]>([:])
        CodableStore<Note>(engine: engine).observeCollection { event in
            observed.withLock { observed in
                switch event {
                case .saved(let note, _, _): observed[note.number] = note
                case .deleted(let note, _, _): observed[note.number] = nil
                }
            }
        }
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            var random = SeededGenerator(seed: Seed.current &+ UInt64(thread))
            var model: [Int: Note] = [:]
            // Replaced by a new store from time to time, as in programs.
            var store = CodableStore<Note>(engine: engine)
            do {
                for step in 0..<60 {
                    if step.isMultiple(of: 10) { store = CodableStore(engine: engine) }
                    try Self.step(step, thread, store, &model, &random)
                }
            } catch {
                failures.withLock { $0.append("thread \(thread): \(error)") }
            }
            models.withLock { $0[thread] = model }
        }
        #expect(failures.withLock { $0 } == [])
        let expected = models.withLock { $0.values.reduce(into: [:]) { $0.merge($1) { $1 } } }
        let found = try CodableStore<Note>(engine: engine).getCollection()
        #expect(found.count == expected.count)
        #expect(Dictionary(found.map { ($0.number, $0) }) { $1 } == expected)
        #expect(observed.withLock { $0 } == expected)
    }

    private static func step(
        _ step: Int,
        _ thread: Int,
        _ store: CodableStore<Note>,
        _ model: inout [Int: Note],
        _ random: inout SeededGenerator
    ) throws {
        func id() -> Int { thread * 1000 + Int.random(in: 0..<12, using: &random) }
        func check(_ isRight: Bool, _ what: String) throws {
            if !isRight { throw Mismatch.differs("\(what) in step \(step)") }
        }
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1:
            let note = Note(id(), text: "\(step)")
            try store.save(note)
            model[note.number] = note
        case 2:
            let notes = (0..<Int.random(in: 0...5, using: &random)).map { Note(id(), text: "\(step)-\($0)") }
            for (note, result) in zip(notes, store.save(notes)) {
                try check(result.object == note, "saving \(note)")
                model[note.number] = note
            }
        case 3:
            let id = id()
            do {
                let deleted = try store.delete(identifier: Note.id(id))
                try check(deleted == model[id], "deleting \(id)")
            } catch let error as StorageError where error.code == .notFound {
                try check(model[id] == nil, "not deleting \(id)")
            }
            model[id] = nil
        case 4:
            let ids = (0..<Int.random(in: 0...5, using: &random)).map { _ in id() }
            for (id, result) in zip(ids, store.delete(identifiers: ids.map(Note.id))) {
                try check(result.object == model[id], "deleting \(id) of several")
                model[id] = nil
            }
        case 5:
            let id = id()
            try check(store.fetchExistence(identifier: Note.id(id)) == (model[id] != nil), "existence of \(id)")
            if let note = model[id] { try check(store.get(identifier: Note.id(id)) == note, "getting \(id)") }
        default:
            let mine = try store.get { $0.number / 1000 == thread }
            try check(
                Dictionary(mine.map { ($0.number, $0) }) { $1 } == model && mine.count == model.count, "the collection")
        }
    }
}
