import Bodega
import Logging
#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// Makes the object that a wrapped property belongs to announce the changes of what the wrapper shows.
///
/// A wrapper calls ``forward(_:to:)`` when its property is accessed through an object, the first moment at which it gets
/// to know the object.
final class EnclosingObject: Sendable {
    private let subscription = Locked<AnyCancellable?>(nil)

    /// Fires the `objectWillChange` of an object whenever a publisher emits. Later calls do nothing.
    ///
    /// - Parameters:
    ///   - changes: Emits before each change.
    ///   - object: The object, which is not retained. Nothing happens if it is no `ObservableObject`.
    func forward(_ changes: @autoclosure () -> some Publisher<Void, Never>, to object: Any) {
        guard let object = object as? any ObservableObject else { return }
        subscription.withLock { subscription in
            guard subscription == nil else { return }
            let publisher = Self.publisher(of: object)
            subscription = changes().sink { publisher?.send() }
        }
    }

    private static func publisher(of object: any ObservableObject) -> ObservableObjectPublisher? {
        let publisher = object.objectWillChange as? ObservableObjectPublisher
        #if !canImport(Combine)
        // OpenCombine makes a new one at each call for an object without a @Published property, so nobody could listen.
        if let publisher, publisher !== object.objectWillChange as? ObservableObjectPublisher {
            boutiqueLogger.warning(
                """
                An object cannot announce the changes of its stored properties. Give it a @Published property or \
                `let objectWillChange = ObservableObjectPublisher()`.
                """,
                metadata: ["object": "\(type(of: object))"]
            )
        }
        #endif
        return publisher
    }
}
