import Bodega

/// The items of a window in sections, which follow its events.
protocol ItemSections<Item>: Sendable {
    associatedtype Item: StorableItem

    /// The sections of other items.
    func replaced(with items: [Item]) -> Self

    /// Follows an event of the window.
    mutating func apply(_ event: LiveQueryEvent<Item>)
}

/// The items of a window in sections, by a property.
///
/// Consecutive items with the same value are a run. If the order of the items groups the values, the runs are the
/// sections, and an event changes one or two of them. Otherwise, the runs of a value are joined.
struct SectionList<Value: Hashable & Sendable, Item: StorableItem>: ItemSections {
    typealias Section = LiveSection<Value, Item>

    private let property: any KeyPath<Item, Value> & Sendable
    private var runs: [Section] = []
    /// The number of runs of each value.
    private var runCounts: [Value: Int] = [:]
    /// The sections, if a value has several runs.
    private var joined: [Section]?

    init(by property: any KeyPath<Item, Value> & Sendable) { self.property = property }

    var sections: [Section] { joined ?? runs }

    func replaced(with items: [Item]) -> SectionList {
        var new = SectionList(by: property)
        for item in items {
            let (value, last) = (item[keyPath: property], new.runs.count - 1)
            if last >= 0, new.runs[last].value == value {
                new.runs[last].items.append(item)
            } else {
                new.insertRun(Section(value, [item]), at: last + 1)
            }
        }
        new.join()
        return new
    }

    mutating func apply(_ event: LiveQueryEvent<Item>) {
        switch event {
        case .loaded(let items): self = replaced(with: items)
        case .inserted(let item, let index): insert(item, at: index)
        case .updated(let item, let index):
            let (run, offset) = location(of: index)
            if runs[run].value == item[keyPath: property] {
                runs[run].items[offset] = item
            } else {
                remove(at: index)
                insert(item, at: index)
            }
        case .moved(let item, let source, let target):
            remove(at: source)
            insert(item, at: target)
        case .removed(_, let index): remove(at: index)
        }
        join()
    }

    /// The run of the item at an index, and the item's index in it.
    private func location(of index: Int) -> (run: Int, offset: Int) {
        var (run, offset) = (0, index)
        while offset >= runs[run].items.count {
            offset -= runs[run].items.count
            run += 1
        }
        return (run, offset)
    }

    private mutating func insert(_ item: Item, at index: Int) {
        let value = item[keyPath: property]
        // The run of the item before, and the place behind that item.
        var (run, end) = index > 0 ? location(of: index - 1) : (-1, -1)
        end += 1
        if run >= 0, runs[run].value == value { return runs[run].items.insert(item, at: end) }
        if run >= 0, end < runs[run].items.count {
            let rest = Section(runs[run].value, Array(runs[run].items[end...]))
            runs[run].items.removeLast(rest.items.count)
            insertRun(rest, at: run + 1)
        } else if run + 1 < runs.count, runs[run + 1].value == value {
            return runs[run + 1].items.insert(item, at: 0)
        }
        insertRun(Section(value, [item]), at: run + 1)
    }

    private mutating func remove(at index: Int) {
        let (run, offset) = location(of: index)
        runs[run].items.remove(at: offset)
        if !runs[run].items.isEmpty { return }
        removeRun(at: run)
        if run > 0, run < runs.count, runs[run - 1].value == runs[run].value {
            runs[run - 1].items += runs[run].items
            removeRun(at: run)
        }
    }

    private mutating func insertRun(_ run: Section, at index: Int) {
        runs.insert(run, at: index)
        // A value that is not equal to itself can't be found again.
        if run.value == run.value { runCounts[run.value, default: 0] += 1 }
    }

    private mutating func removeRun(at index: Int) {
        let value = runs.remove(at: index).value
        guard let count = runCounts[value] else { return }
        runCounts[value] = count > 1 ? count - 1 : nil
    }

    /// Joins the runs of each value, where the first one is.
    private mutating func join() {
        joined = nil
        guard runs.count > runCounts.count else { return }
        var indexes: [Value: Int] = [:]
        var sections: [Section] = []
        for run in runs {
            if let index = indexes[run.value] {
                sections[index].items += run.items
            } else {
                indexes[run.value] = sections.count
                sections.append(run)
            }
        }
        joined = sections
    }
}
