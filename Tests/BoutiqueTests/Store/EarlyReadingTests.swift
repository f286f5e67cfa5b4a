import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// A program that reads items before they are loaded gets none. If the reader could have waited, the store logs a
/// notice.
@MainActor
@Suite struct EarlyReadingTests {
    let gate = StorageGate()

    private func loadingStore() -> Store<Note> {
        Store(
            storage: FaultInjectingStorageEngine(WithoutLog(MemoryStorageEngine()), faults: [.hold([.scan], at: gate)]))
    }

    @Test func `A task that reads the items of a loading store is advised to wait`() async throws {
        let store = loadingStore()
        #expect(!store.model.hasReportedEarlyRead)
        #expect(store.items.isEmpty)
        #expect(store.model.hasReportedEarlyRead)
        gate.release()
        try await store.itemsHaveLoaded()
    }

    @Test func `A task can read loaded items without a notice`() async throws {
        let store = loadingStore()
        gate.release()
        try await store.itemsHaveLoaded()
        #expect(store.items.isEmpty)
        #expect(!store.model.hasReportedEarlyRead)
        let preview = Store.previewStore(items: notes("a"))
        #expect(preview.items.count == 1)
        #expect(!preview.model.hasReportedEarlyRead)
    }

    @Test func `Code outside a task, such as a view, can read the items at any time`() async throws {
        let store = loadingStore()
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                MainActor.assumeIsolated { _ = store.items }
                continuation.resume()
            }
        }
        #expect(!store.model.hasReportedEarlyRead)
        gate.release()
        try await store.itemsHaveLoaded()
    }
}
