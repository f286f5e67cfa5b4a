import Boutique
import Testing

@Test func `Importing Boutique makes the declarations of Bodega visible`() {
    let engine: any StorageEngine = MemoryStorageEngine()
    #expect(engine is MemoryStorageEngine)
}
