import Observation

/// A piece of state that the Observation framework tracks as a whole.
///
/// A property that is computed from state kept elsewhere calls ``access()`` when it is read. Code that changes the
/// state calls ``willChange()`` before and ``didChange()`` after the change. With a separate point for each property,
/// an observer is notified only of changes of what it has read. A point costs a few nanoseconds, unlike a key path into
/// a generic class, which the runtime creates again at each use.
final class ObservationPoint: Observable, Sendable {
    private let registrar = ObservationRegistrar()

    /// The property for which observers are registered. It has no content.
    private var value: Void { () }

    /// Records that the state is being read.
    func access() {
        registrar.access(self, keyPath: \.value)
    }

    /// Notifies observers that the state is about to change.
    func willChange() {
        registrar.willSet(self, keyPath: \.value)
    }

    /// Notifies observers that the state has changed.
    func didChange() {
        registrar.didSet(self, keyPath: \.value)
    }
}
