package io.flowlag.sketch.joint;

/** The cells' likelihood of a flow after convergence with the prior. */
interface Propagation {
    /** Collects the cells' likelihood of a flow for the next two methods. */
    void read(int flow);

    /** Precision of the cells' normal likelihood of z; 0 without information. */
    double precision();

    /** Its mean times its precision. */
    double natural();

    /** The mean of that likelihood, less what the cells say of all flows alike; read where the precision is not 0. */
    double cellsZ();

    /** Whether cells alone determine the mean of the flow read last. */
    boolean isDetermined(int flow);
}
