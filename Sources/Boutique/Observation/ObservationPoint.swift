import Observation

/// Something that the Observation framework can track as a whole.
///
/// A property that is computed from state kept elsewhere calls ``access()`` when it is read. Whoever changes the state
/// calls ``willChange()`` before and ``didChange()`` after. A point of its own for each thing that can be read makes an
/// observer hear of what it has read and of nothing else; and, unlike a key path into a generic class, which the runtime
/// makes anew at each use, it costs a few nanoseconds.
final class ObservationPoint: Observable, Sendable {
    private let registrar = ObservationRegistrar()

    /// What observers are registered for; there is nothing in it.
    private var value: Void { () }

    /// Tells that the state is being read.
    func access() {
        registrar.access(self, keyPath: \.value)
    }

    /// Tells observers that the state is about to change.
    func willChange() {
        registrar.willSet(self, keyPath: \.value)
    }

    /// Tells observers that the state has changed.
    func didChange() {
        registrar.didSet(self, keyPath: \.value)
    }
}
