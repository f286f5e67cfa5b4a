#if Postgres
import Bodega

/// The connections that short reads share.
final class LaneGroup: Sendable {

    private let lanes: [ReadLane]

    /// A lane with fewer reads under way takes the next one, so that a connection is only made when those that are
    /// there have something to do, and reads go out together.
    private static let enough = 8

    init(pool: SessionPool, count: Int) {
        let lanes = (0..<count).map { _ in ReadLane(pool: pool) }
        self.lanes = lanes
        for lane in lanes { pool.whenSuspecting { [weak lane] in lane?.closeIfIdle() } }
    }

    /// The lane for the next read.
    func next() -> ReadLane {
        var best = lanes[0]
        var least = Int.max
        for lane in lanes {
            let load = lane.load
            if load < Self.enough { return lane }
            if load < least { (best, least) = (lane, load) }
        }
        return best
    }

    func close() {
        for lane in lanes { lane.close() }
    }
}
#endif
