/// What the encoder and the containers of one record share.
///
/// It is used for one record after another. A value that keeps an encoder or container beyond its call keeps this, too;
/// then it is not used again.
final class EncodingState {
    /// States that are not in use.
    private static let idle = Pool<EncodingState>(capacity: 16)
    /// How large a buffer may be to be kept for the next record.
    private static let keptCapacity = 1 << 20

    /// One initialized storage, for as long as this object lives.
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

    /// Takes a state that nobody else uses, for records with some user info.
    static func take(userInfo: [CodingUserInfoKey: any Sendable]) -> EncodingState {
        let state = idle.take() ?? EncodingState()
        if !userInfo.isEmpty { state.storage.pointee.userInfo = userInfo }
        return state
    }

    /// Puts back a state that nobody else refers to.
    static func putBack(_ state: consuming EncodingState) {
        guard state.storage.pointee.output.capacity <= keptCapacity else { return }
        // What belongs to somebody, and what is large, is not to be kept alive.
        if !state.storage.pointee.userInfo.isEmpty { state.storage.pointee.userInfo = [:] }
        if !state.storage.pointee.keySets.isEmpty { state.storage.pointee.keySets = [] }
        idle.put(consume state)
    }
}
