import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// A program that reads items before they are loaded gets none. If it could have waited, that is reported.
@MainActor
@Suite struct EarlyReadingTests {
    let gate = StorageGate()

    private func loadingStore() -> Store<Note> {
        Store(storage: FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [.hold([.fetchAll], at: gate)]))
    }

    @Test func `A task that reads the items of a store that loads is told to wait`() async throws {
        let store = loadingStore()
        #expect(!store.model.hasReportedEarlyRead)
        #expect(store.items.isEmpty)
        #expect(store.model.hasReportedEarlyRead)
        gate.release()
        try await store.itemsHaveLoaded()
    }

    @Test func `Items that are loaded can be read by a task`() async throws {
        let store = loadingStore()
        gate.release()
        try await store.itemsHaveLoaded()
        #expect(store.items.isEmpty)
        #expect(!store.model.hasReportedEarlyRead)
        let preview = Store.previewStore(items: notes("a"))
        #expect(preview.items.count == 1)
        #expect(!preview.model.hasReportedEarlyRead)
    }

    @Test func `What is no task, as a view, may read the items at any time`() async throws {
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
