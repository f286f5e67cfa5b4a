import CodableStoreKit
import Dispatch
import Foundation
import TestSupport
import Testing

/// A controller that does not use UIKit.
private final class Controller<Object: BaseCodableStoreable>: CodableStoreControllerable {
    let codableStore: CodableStore<Object>
    let subscriptionBag = ObserverableCodableStoreSubscriptionBag()

    /// The calls of the hooks, with the identifiers of the objects before and after the change.
    var log: [String] = []
    var onUpdate: (Controller) -> Void = { _ in }

    init(_ store: CodableStore<Object>) {
        codableStore = store
        observeCodableStoreables()
    }

    func codableStoreablesWillUpdate(event: CodableStore<Object>.ObserveEvent, codableStoreables: [Object]) {
        log.append("will \(ids(self.codableStoreables)) -> \(ids(codableStoreables))")
    }

    func codableStoreablesDidUpdate(event: CodableStore<Object>.ObserveEvent, codableStoreables: [Object]) {
        let kind = if case .saved = event { "saved" } else { "deleted" }
        log.append("\(kind) \(ids([event.object])) \(ids(self.codableStoreables))")
        onUpdate(self)
    }

    func codableStoreablesDidFail(_ error: any Error) {
        log.append("failed \((error as? StorageError)?.code.description ?? "\(error)")")
    }

    private func ids(_ objects: [Object]) -> String {
        objects.map { "\($0[keyPath: Object.codableStoreIdentifier])" }.joined(separator: ",")
    }
}

@MainActor
@Suite struct ControllerTests {

    private let folder = TemporaryFolder()

    @Test(
        "A controller shows the objects, and its hooks are called before and after each change",
        arguments: EngineKind.allCases)
    func hooks(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        try store.save(User(1))
        let controller = Controller(store)
        #expect(controller.codableStoreables == [User(1)])
        try store.save(User(2))
        try store.save(User(1, "Ms."))
        try store.delete(identifier: "1")
        try store.save(User(1))
        #expect(
            controller.log == [
                "will 1 -> 1,2", "saved 2 1,2", "will 1,2 -> 1,2", "saved 1 1,2",
                "will 1,2 -> 2", "deleted 1 2", "will 2 -> 2,1", "saved 1 2,1",
            ])
        #expect(try controller.codableStoreables == store.getCollection())
    }

    @Test("The hooks of a controller that has not read its objects yet are called for the first change")
    func unloaded() throws {
        let store = CodableStore<User>(engine: .fileSystem(in: folder.directory))
        try store.save(User(1))
        let controller = Controller(store)
        try store.save(User(2))
        #expect(controller.log.last == "saved 2 1,2")
    }

    @Test("Objects are found by index, and an index out of bounds returns nil")
    func places() throws {
        let store = CodableStore<User>(engine: .at(.memory()))
        let controller = PlainController(store)
        #expect(controller.codableStoreable(at: 0) == nil)
        store.save([User(1), User(2)])
        #expect(controller.codableStoreable(at: 1) == User(2))
        #expect(controller.codableStoreable(at: 2) == nil)
        #expect(controller.codableStoreable(at: -1) == nil)
    }

    @Test("A change made by a hook is shown after the hook has returned")
    func changesInHooks() throws {
        let store = CodableStore<Note>(engine: .at(.memory()))
        let controller = Controller(store)
        controller.onUpdate = { controller in
            let count = controller.codableStoreables.count
            if count < 3 { controller.codableStore.save([Note(id: count + 1, text: "")]) }
            controller.log.append("hook")
        }
        try store.save(Note(id: 1, text: ""))
        #expect(
            controller.log.filter { !$0.hasPrefix("will") } == [
                "saved 1 1", "hook", "saved 2 1,2", "hook", "saved 3 1,2,3", "hook",
            ])
        controller.onUpdate = { _ in }
    }

    @Test("Changes made on other threads are shown on the main actor, in order")
    func otherThreads() async throws {
        let store = CodableStore<Note>(engine: .at(.memory()))
        let controller = Controller(store)
        #expect(controller.codableStoreables.isEmpty)
        let (shown, continuation) = AsyncStream.makeStream(of: Int.self)
        controller.onUpdate = { controller in
            continuation.yield(controller.codableStoreables.count)
            if controller.codableStoreables.count == 200 { continuation.finish() }
        }
        DispatchQueue.global().async {
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                for number in 0..<50 { store.save([Note(id: thread * 50 + number, text: "")]) }
            }
        }
        var counts: [Int] = []
        for await count in shown { counts.append(count) }
        #expect(counts == Array(1...200))
        #expect(try controller.codableStoreables == store.getCollection())
    }

    @Test("The observation ends with the controller and with its bag")
    func end() throws {
        let store = CodableStore<User>(engine: .at(.memory()))
        var controller: Controller<User>? = Controller(store)
        weak var released: Controller<User>?
        released = controller
        controller = nil
        #expect(released == nil)
        let other = Controller(store)
        other.subscriptionBag.dispose()
        try store.save(User(1))
        #expect(other.log.isEmpty)
    }

    @Test("A failure to read the objects is reported, and the next use reads and observes them")
    func failure() throws {
        let store = CodableStore<User>(engine: .sqlite(in: folder.directory))
        let file = folder.file("CodableStoreKit.sqlite3")
        try Data(repeating: 7, count: 4096).write(to: file)
        let controller = Controller(store)
        #expect(controller.codableStoreables.isEmpty)
        #expect(controller.log.count == 1 && controller.log[0].hasPrefix("failed "))
        try FileManager.default.removeItem(at: file)
        try store.save(User(1))
        #expect(controller.codableStoreables == [User(1)])
        try store.save(User(2))
        #expect(controller.log.last == "saved 2 1,2")
    }
}
