import Bodega
import BodegaTesting
import Boutique
import TestSupport
import Testing

/// The behavior of the SwiftUI view modifiers while their views are shown.
@MainActor
@Suite struct StoreWhenLoadedTests {
    private let engine = FaultInjectingStorageEngine(WithoutLog(MemoryStorageEngine()))

    /// The callbacks in order.
    @MainActor
    private final class Log {
        var calls: [String] = []
    }

    private let log = Log()

    /// Creates a store in a synchronous function, so with the initializer that loads in the background.
    private func makeStore() -> Store<Note> {
        Store(storage: engine)
    }

    /// Starts the task that SwiftUI starts when the view appears.
    private func appear(_ store: Store<Note>) -> Task<Void, Never> {
        Task { [log] in
            await store.whenLoaded {
                log.calls.append("loaded")
            } onError: { _ in
                log.calls.append("failed")
            }
        }
    }

    @Test func `Calls back when the items are loaded`() async throws {
        let gate = StorageGate()
        engine.inject(.hold([.scan], at: gate))
        let store = makeStore()
        let view = appear(store)
        await gate.waitForArrivals(1)
        #expect(log.calls == [])
        gate.release()
        await view.value
        #expect(log.calls == ["loaded"])
    }

    @Test func `Calls back immediately if the items are loaded already`() async throws {
        await appear(.previewStore(items: [])).value
        #expect(log.calls == ["loaded"])
    }

    @Test func `Calls back again when the view appears again`() async throws {
        let store = makeStore()
        await appear(store).value
        await appear(store).value
        #expect(log.calls == ["loaded", "loaded"])
    }

    @Test func `Calls back with the error, and again when a reload succeeds`() async throws {
        engine.inject(.fail(.reads))
        let store = makeStore()
        let view = appear(store)
        while log.calls.isEmpty { await Task.yield() }
        engine.clearFaults()
        try await store.reload()
        await view.value
        #expect(log.calls == ["failed", "loaded"])
    }

    @Test func `Does not call back when the view has disappeared`() async throws {
        let gate = StorageGate()
        engine.inject(.hold([.scan], at: gate))
        let store = makeStore()
        let view = appear(store)
        await gate.waitForArrivals(1)
        view.cancel()
        gate.release()
        await view.value
        #expect(log.calls == [])
    }

    @Test func `Stops waiting for a reload when the view has disappeared`() async throws {
        engine.inject(.fail(.reads))
        let store = makeStore()
        let view = appear(store)
        while log.calls.isEmpty { await Task.yield() }
        view.cancel()
        await view.value
        #expect(log.calls == ["failed"])
    }

    @Test func `Works without a callback for errors`() async throws {
        engine.inject(.fail(.reads))
        let store = makeStore()
        let view = Task { [log] in await store.whenLoaded { log.calls.append("loaded") } }
        await #expect(throws: StorageError.self) { try await store.itemsHaveLoaded() }
        engine.clearFaults()
        try await store.reload()
        await view.value
        #expect(log.calls == ["loaded"])
    }
}
