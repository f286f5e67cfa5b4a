import Bodega

/// A store's records: reads, encodes and writes them, off the main actor.
struct RecordStorage<Item: StorableItem>: Sendable {
    let engine: any StorageEngine
    let coding: RecordCoding<Item>
}
