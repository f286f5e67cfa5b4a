import Boutique
import Testing

@Test func `Importing Boutique also imports Bodega`() {
    let engine: any StorageEngine = MemoryStorageEngine()
    #expect(engine is MemoryStorageEngine)
}
