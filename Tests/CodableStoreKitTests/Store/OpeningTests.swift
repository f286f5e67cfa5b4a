import CodableStoreKit
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite struct OpeningTests {

    private let folder = TemporaryFolder()

    /// An object whose collection name is read right before the collection is opened.
    private struct Announced: CodableStoreable, Sendable {
        static var codableStoreIdentifier: KeyPath<Announced, Int> { \.id }
        static let isOpening = DispatchSemaphore(value: 0)
        static var codableStoreCollectionName: String {
            isOpening.signal()
            return "Announced"
        }
        let id: Int
    }

    @Test("A database that is slow to open does not block others")
    func slowOpening() throws {
        // Opening a pipe for reading blocks until it is opened for writing.
        let slow = folder.file("slow")
        try FileManager.default.createDirectory(at: slow, withIntermediateDirectories: true)
        let pipe = slow.appendingPathComponent("CodableStoreKit.sqlite3").path
        #expect(mkfifo(pipe, 0o600) == 0)
        let (opening, others) = (DispatchGroup(), DispatchGroup())
        opening.enter()
        Thread.detachNewThread {
            _ = CodableStore<Announced>(engine: .sqlite(in: FileManager.Directory(url: slow))).exists(identifier: 1)
            opening.leave()
        }
        #expect(Announced.isOpening.wait(timeout: .now() + 600) == .success)

        others.enter()
        Thread.detachNewThread { [folder] in
            for number in 0..<20 {
                let directory = FileManager.Directory(url: folder.file("fast-\(number)"))
                #expect(CodableStore<User>(engine: .sqlite(in: directory)).save([User(1)])[0].error == nil)
            }
            others.leave()
        }
        #expect(others.wait(timeout: .now() + 600) == .success)
        let writer = open(pipe, O_RDWR)
        opening.wait()
        others.wait()
        close(writer)
    }

    @Test("An observation through a type begins when any store opens the collection, unless it has ended by then")
    func lateOpening() throws {
        let place = folder.file("place")
        try Data().write(to: place)
        let engine = CodableStore<User>.Engine.sqlite(in: FileManager.Directory(url: place))
        let (events, ended) = (Events<User>(), Events<User>())
        User.observeCollection(engine: engine) { events.add($0) }
        User.observe(identifier: "2", engine: engine) { ended.add($0) }.unsubscribe()
        User.observeCollection(container: "other", engine: engine) { ended.add($0) }
        #expect(throws: StorageError.self) { try User(1).save(engine: engine) }
        try FileManager.default.removeItem(at: place)
        try User(2).save(engine: engine)
        try CodableStore<User>(engine: engine).save(User(3))
        #expect(events.all == ["saved 2", "saved 3"])
        #expect(ended.all.isEmpty)
    }
}
