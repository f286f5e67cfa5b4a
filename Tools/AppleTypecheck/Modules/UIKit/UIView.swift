public import Foundation

@MainActor @preconcurrency
open class UIView: NSObject {
    public nonisolated override init() { fatalError() }
    open var backgroundColor: UIColor? {
        get { fatalError() }
        set { fatalError() }
    }
}

@MainActor @preconcurrency
open class UILabel: UIView {
    open var text: String? {
        get { fatalError() }
        set { fatalError() }
    }
    open var textAlignment: NSTextAlignment {
        get { fatalError() }
        set { fatalError() }
    }
    open var lineBreakMode: NSLineBreakMode {
        get { fatalError() }
        set { fatalError() }
    }
    open var numberOfLines: Int {
        get { fatalError() }
        set { fatalError() }
    }
}

@MainActor @preconcurrency
open class UITableView: UIView {
    public enum Style: Int, Sendable {
        case plain, grouped, insetGrouped
    }
    open func reloadData() { fatalError() }
}

@MainActor @preconcurrency
open class UICollectionView: UIView {
    open func reloadData() { fatalError() }
}

@MainActor @preconcurrency
open class UICollectionViewLayout: NSObject {
    public nonisolated override init() { fatalError() }
}

@MainActor @preconcurrency
open class UICollectionViewFlowLayout: UICollectionViewLayout {}

open class UIColor: NSObject, @unchecked Sendable {
    open class var white: UIColor { fatalError() }
}

public enum NSTextAlignment: Int, Sendable {
    case left, center, right, justified, natural
}

public enum NSLineBreakMode: Int, Sendable {
    case byWordWrapping, byCharWrapping, byClipping, byTruncatingHead, byTruncatingTail, byTruncatingMiddle
}
