package import BodegaTesting

extension FaultInjectingStorageEngine {
    /// The calls of the engine inside, which records them.
    package var recordedCalls: [StorageEngineCall] { (base as? RecordingStorageEngine)?.calls ?? [] }
}
