import Boutique
import Testing

@Test func `Importing Boutique makes the names of Bodega visible`() {
    let engine: any StorageEngine = MemoryStorageEngine()
    #expect(engine is MemoryStorageEngine)
}
