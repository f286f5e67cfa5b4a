/// A change of what observers see, in three steps, so that several stores and windows can change together: observers of
/// any of them see either all changes or none.
@MainActor
struct ShownChange {
    /// Announces the change to observers.
    let announce: @MainActor () -> Void
    /// Makes the change.
    let make: @MainActor () -> Void
    /// Notifies observers.
    let notify: @MainActor () -> Void

    init(
        announce: @escaping @MainActor () -> Void, make: @escaping @MainActor () -> Void,
        notify: @escaping @MainActor () -> Void
    ) {
        (self.announce, self.make, self.notify) = (announce, make, notify)
    }

    /// No change.
    static var none: ShownChange { ShownChange(announce: {}, make: {}, notify: {}) }

    /// Returns the change with a further step of making it.
    func with(_ step: @escaping @MainActor () -> Void) -> ShownChange {
        ShownChange(
            announce: announce,
            make: { [make] in
                make()
                step()
            }, notify: notify)
    }

    func show() {
        announce()
        make()
        notify()
    }

    /// Shows changes together.
    static func show(_ changes: [ShownChange]) {
        for change in changes { change.announce() }
        for change in changes { change.make() }
        for change in changes { change.notify() }
    }
}
