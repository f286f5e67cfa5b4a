#if canImport(Combine)
import Combine
#else
public import OpenCombine
#endif

/// Announces the changes of an object to whoever asks for its publisher, on any thread.
final class ObjectChanges: @unchecked Sendable {
    // @unchecked because the publisher guards itself with a lock, but its module need not tell the compiler.
    let publisher = ObservableObjectPublisher()
}

#if !canImport(Combine)
// A class without @Published properties needs a publisher of its own where there is no Combine. This makes
// `let objectWillChange = ObservableObjectPublisher()` enough, in classes on the main actor too. It is true: the publisher
// guards what is mutable in it with a lock.
extension ObservableObjectPublisher: @retroactive @unchecked Sendable {}
#endif
