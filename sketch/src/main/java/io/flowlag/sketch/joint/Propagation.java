package io.flowlag.sketch.joint;

/** What cells say of a flow, once they and the prior have come to terms. */
interface Propagation {
    /** Collects what the cells say of a flow, for the next two. */
    void read(int flow);

    /** Precision of the cells' normal likelihood of z; 0 if they say nothing. */
    double precision();

    /** Its mean times its precision. */
    double natural();

    /** Whether cells alone say what the mean of the flow that was read is. */
    boolean isDetermined(int flow);
}
