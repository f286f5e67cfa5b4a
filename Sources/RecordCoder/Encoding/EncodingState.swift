/// The state that the encoders and containers of one record share.
///
/// A state is reused for one record after another unless an encoder or container that outlives its call refers to it.
final class EncodingState {
    private static let idle = Pool<EncodingState>(capacity: 16)
    /// The largest capacity of a buffer that is kept for the next record.
    private static let keptCapacity = 1 << 20

    /// Initialized for the lifetime of this object.
    let storage: UnsafeMutablePointer<EncodingStorage>

    /// Makes a state with buffers of its own.
    private init() {
        storage = .allocate(capacity: 1)
        storage.initialize(to: EncodingStorage())
    }

    deinit {
        storage.pointee.deallocate()
        storage.deinitialize(count: 1)
        storage.deallocate()
    }

    /// Takes an idle state, or makes one.
    static func take(userInfo: [CodingUserInfoKey: any Sendable]) -> EncodingState {
        let state = idle.take() ?? EncodingState()
        if !userInfo.isEmpty { state.storage.pointee.userInfo = userInfo }
        return state
    }

    /// Returns a uniquely referenced state to the pool.
    static func putBack(_ state: consuming EncodingState) {
        guard state.storage.pointee.output.capacity <= keptCapacity else { return }
        // Don't keep the caller's objects and large sets alive.
        if !state.storage.pointee.userInfo.isEmpty { state.storage.pointee.userInfo = [:] }
        if !state.storage.pointee.keySets.isEmpty { state.storage.pointee.keySets = [] }
        idle.put(consume state)
    }
}
