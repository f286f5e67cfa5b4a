/// What happened to an object, without the place where it happened.
enum ObjectChange<Object: BaseCodableStoreable> {
    case saved(Object)
    case deleted(Object)

    var object: Object {
        switch self {
        case .saved(let object), .deleted(let object): object
        }
    }
}
